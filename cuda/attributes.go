// What an entry of code holds beside the code.

package cuda

import (
	"encoding/json"
	"fmt"
	"slices"

	"jitcache/command"
)

// Attributes are what an entry holds beside the code. They are stored as a JSON object.
type Attributes struct {
	Target  string            `json:"target"`            // "cubin"
	Arch    string            `json:"arch"`              // "sm_90"
	NVRTC   string            `json:"nvrtc"`             // "13.5"
	Log     string            `json:"log,omitempty"`     // the compiler's log
	Lowered map[string]string `json:"lowered,omitempty"` // by name expression
}

// ParseAttributes reads the attributes of an entry. Missing fields are zero; all are, if
// the text is not such an object.
func ParseAttributes(text string) Attributes {
	var a Attributes
	if json.Unmarshal([]byte(text), &a) != nil {
		return Attributes{}
	}
	return a
}

func (a Attributes) jsonText() string {
	text, err := json.Marshal(a)
	if err != nil { // cannot be: strings, and maps of strings
		panic(err)
	}
	return string(text)
}

func (r *running) madeOf(code []byte, log string, lowered map[string]string, major, minor int) *command.Made {
	return &command.Made{Payload: slices.Clone(code), Log: log, Attributes: Attributes{
		Target: r.target.String(), Arch: r.arch + r.sm, NVRTC: fmt.Sprintf("%d.%d", major, minor), Log: log, Lowered: lowered,
	}.jsonText()}
}
