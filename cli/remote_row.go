package cli

import "encoding/json"

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
