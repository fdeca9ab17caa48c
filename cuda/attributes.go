package cuda

import "encoding/json"

// Attributes are what an entry has beside the code, as a JSON object.
type Attributes struct {
	Target  string            `json:"target"`            // "cubin"
	Arch    string            `json:"arch"`              // "sm_90"
	NVRTC   string            `json:"nvrtc"`             // "13.5"
	Log     string            `json:"log,omitempty"`     // what the compiler said
	Lowered map[string]string `json:"lowered,omitempty"` // by name expression
}

// ParseAttributes reads what an entry has. What is not there, or was written by
// somebody else, is zero.
func ParseAttributes(text string) Attributes {
	var a Attributes
	if json.Unmarshal([]byte(text), &a) != nil {
		return Attributes{}
	}
	return a
}

func (a Attributes) text() string {
	text, err := json.Marshal(a)
	if err != nil { // strings and maps of them
		panic(err)
	}
	return string(text)
}
