package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"jitcache/core"
	"jitcache/core/store"
)

// remoteRow is a remote as `jitcache remote status`, `stats` and `doctor` print it with
// -json.
type remoteRow struct {
	URL     string `json:"url"`
	Source  string `json:"source"` // the variable or file that names it
	Refused string `json:"refused,omitempty"`
	Reads   bool   `json:"reads"`
	Writes  bool   `json:"writes"`
	Waiting int    `json:"waiting"` // entries of this directory that are still to be sent there
	// Helper is the answer of the helper; Error says why there is none.
	Helper json.RawMessage `json:"helper,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// does says what the remote is used for.
func (r *remoteRow) does() string {
	switch {
	case r.Refused != "":
		return "not used: " + r.Refused
	case !r.Reads && !r.Writes:
		return "neither read nor written"
	case !r.Reads:
		return "written only: no key is trusted"
	case !r.Writes:
		return "read only"
	}
	return "read and written"
}

// helperText says how the helper is. stats and doctor print it after the remote.
func (r *remoteRow) helperText() string {
	var h struct {
		State       string            `json:"state"`
		LastError   string            `json:"last_error"`
		Hits        uint64            `json:"hits"`
		Misses      uint64            `json:"misses"`
		MissReasons map[string]uint64 `json:"miss_reasons"`
		Errors      int64             `json:"errors"`
		Received    int64             `json:"received_bytes"`
		Sent        int64             `json:"sent_bytes"`
	}
	waiting := fmt.Sprintf(", %d waiting", r.Waiting)
	switch {
	case r.Refused != "":
		return ""
	case r.Error != "":
		return waiting + "; its helper does not answer: " + r.Error
	case json.Unmarshal(r.Helper, &h) != nil:
		return waiting + "; its helper gave no status"
	}
	var why []string
	for _, reason := range sorted(h.MissReasons) {
		why = append(why, fmt.Sprintf("%d %s", h.MissReasons[reason], reason))
	}
	misses := fmt.Sprintf("%d misses", h.Misses)
	if len(why) > 0 {
		misses += " (" + strings.Join(why, ", ") + ")"
	}
	text := fmt.Sprintf("; %s, %d hits, %s, %d errors, %s received, %s sent%s",
		h.State, h.Hits, misses, h.Errors, store.FormatSize(h.Received), store.FormatSize(h.Sent), waiting)
	if h.LastError != "" {
		text += ", last error: " + h.LastError
	}
	return text
}

// withRemotes is what `jitcache stats -json` prints.
type withRemotes struct {
	core.Stats
	Remotes []remoteRow `json:"remotes"`
}
