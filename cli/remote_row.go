package cli

import (
	"encoding/json"
	"fmt"

	"jitcache/core/store"
)

// remoteRow is a remote as `jitcache remote status -json` prints it.
type remoteRow struct {
	URL     string `json:"url"`
	Source  string `json:"source"` // who has named it
	Refused string `json:"refused,omitempty"`
	Reads   bool   `json:"reads"`
	Writes  bool   `json:"writes"`
	// Helper is what the helper says, Error why it says nothing.
	Helper json.RawMessage `json:"helper,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// helperText is what doctor says of the helper, behind what it says of the remote.
func (r *remoteRow) helperText() string {
	var h struct {
		State     string `json:"state"`
		LastError string `json:"last_error"`
		Hits      int64  `json:"hits"`
		Misses    int64  `json:"misses"`
		Errors    int64  `json:"errors"`
		Queue     int64  `json:"queue"`
		Received  int64  `json:"received_bytes"`
		Sent      int64  `json:"sent_bytes"`
	}
	switch {
	case r.Refused != "":
		return ""
	case r.Error != "":
		return "; its helper does not answer: " + r.Error
	case json.Unmarshal(r.Helper, &h) != nil:
		return "; its helper says nothing"
	}
	text := fmt.Sprintf("; %s, %d hits, %d misses, %d errors, %s received, %s sent, %d waiting",
		h.State, h.Hits, h.Misses, h.Errors, store.FormatSize(h.Received), store.FormatSize(h.Sent), h.Queue)
	if h.LastError != "" {
		text += ", last error: " + h.LastError
	}
	return text
}
