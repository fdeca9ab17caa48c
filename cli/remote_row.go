// A remote in the tables of remote status, stats and doctor.

package cli

import (
	"encoding/json"
	"fmt"
	"io"
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
	Sends   bool   `json:"sends"`   // false, although it is written, if results are not signed
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
	case !r.Reads && !r.Sends:
		return "not read: no key is trusted; " + sendsNothing
	case !r.Reads:
		return "written only: no key is trusted"
	case !r.Writes:
		return "read only"
	case !r.Sends:
		return "read; " + sendsNothing
	}
	return "read and written"
}

// sendsNothing is said of a remote that wants signatures, which this machine cannot make.
const sendsNothing = "sends nothing: no signing key"

// helperStatus is the part of a helper's answer that is printed for people.
type helperStatus struct {
	State       string            `json:"state"`
	LastError   string            `json:"last_error"`
	Hits        uint64            `json:"hits"`
	Misses      uint64            `json:"misses"`
	MissReasons map[string]uint64 `json:"miss_reasons"`
	Errors      int64             `json:"errors"`
	Received    int64             `json:"received_bytes"`
	Sent        int64             `json:"sent_bytes"`
}

// status returns the helper's answer, or why there is none.
func (r *remoteRow) status() (h helperStatus, why string) {
	switch {
	case r.Refused != "":
		return h, "not used: " + r.Refused
	case r.Error != "":
		return h, "its helper does not answer: " + r.Error
	case json.Unmarshal(r.Helper, &h) != nil:
		return h, "its helper gave no status"
	}
	return h, ""
}

// missReasons says why entries were not found, "" if that is not known.
func (h *helperStatus) missReasons() string {
	var why []string
	for _, reason := range sorted(h.MissReasons) {
		why = append(why, fmt.Sprintf("%d %s", h.MissReasons[reason], reason))
	}
	return strings.Join(why, ", ")
}

// helperText says how the helper is. stats and doctor print it after the remote.
func (r *remoteRow) helperText() string {
	if r.Refused != "" {
		return ""
	}
	waiting := fmt.Sprintf(", %d waiting", r.Waiting)
	h, why := r.status()
	if why != "" {
		return waiting + "; " + why
	}
	misses := fmt.Sprintf("%d misses", h.Misses)
	if why := h.missReasons(); why != "" {
		misses += " (" + why + ")"
	}
	text := fmt.Sprintf("; %s, %d hits, %s, %d errors, %s received, %s sent%s",
		h.State, h.Hits, misses, h.Errors, store.FormatSize(h.Received), store.FormatSize(h.Sent), waiting)
	if h.LastError != "" {
		text += ", last error: " + h.LastError
	}
	return text
}

// printRemotes prints a table of the remotes, and below it what is too long for a column.
func printRemotes(w io.Writer, rows []remoteRow) {
	fmt.Fprintln(w, "REMOTE\tSTATE\tHITS\tMISSES\tERRORS\tRECEIVED\tSENT\tWAITING")
	for i := range rows {
		h, why := rows[i].status()
		if why != "" {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t-\t%d\n", line(rows[i].URL), rows[i].Waiting)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%d\n", line(rows[i].URL), h.State, h.Hits, h.Misses, h.Errors,
			store.FormatSize(h.Received), store.FormatSize(h.Sent), rows[i].Waiting)
	}
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(w, "\n%s (%s): %s\n", line(r.URL), r.Source, r.does())
		h, why := r.status()
		if why != "" && r.Refused == "" {
			fmt.Fprintf(w, "  %s\n", line(why))
		}
		if why := h.missReasons(); why != "" {
			fmt.Fprintf(w, "  missed: %s\n", why)
		}
		if h.LastError != "" {
			fmt.Fprintf(w, "  last error: %s\n", line(h.LastError))
		}
	}
}

// withRemotes is what `jitcache stats -json` prints.
type withRemotes struct {
	core.Stats
	Remotes []remoteRow `json:"remotes"`
}

// remotes returns a row for each remote. It asks the helpers of those that are used for
// their status.
func remotes(cache *core.Cache) []remoteRow {
	rows := []remoteRow{}
	for _, r := range cache.Remotes() {
		row := remoteRow{URL: r.URL, Source: r.Source, Refused: r.Refused, Reads: r.Reads, Writes: r.Writes, Sends: cache.Sends(r)}
		if r.Refused == "" {
			row.Waiting = cache.Waiting(r)
			helper, err := r.Status(statusTimeout)
			if err != nil {
				row.Error = err.Error()
			} else {
				row.Helper = helper
			}
		}
		rows = append(rows, row)
	}
	return rows
}
