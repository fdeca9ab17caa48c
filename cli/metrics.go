// `jitcache metrics`: the counters in Prometheus's text format.

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
)

const metricsHelp = `The text is the exposition format of Prometheus. Node exporter reads it from the folder of its textfile
collector; a line of cron that writes it each minute, whole or not at all:

  * * * * * jitcache metrics /var/lib/node_exporter/textfile/jitcache.prom

Without FILE it goes to standard output. Counters cover all processes, and begin again after
` + "`jitcache stats -zero`" + `; those of a remote begin when its helper starts.`

func (c *command) metricsCommand() *ffcli.Command {
	cmd := c.newCommand("metrics [FILE]", "print the counters for Prometheus", c.array("metrics"), 0, 1, func(args []string) error {
		cache, _, err := c.openCache()
		if err != nil {
			return err
		}
		defer cache.Close()
		stats, rows := cache.Stats().WithoutInternal(), remotes(cache)
		write := func(w io.Writer) error {
			m := metrics{directory: stats.Directory}
			m.ofDirectory(&stats)
			m.ofRemotes(rows)
			if c.asJSON {
				e := json.NewEncoder(w)
				e.SetIndent("", "  ")
				return e.Encode(m.samples)
			}
			_, err := io.WriteString(w, m.text.String())
			return err
		}
		if len(args) == 0 || args[0] == "-" {
			return write(c.stdout)
		}
		return writeWhole(args[0], write)
	})
	cmd.LongHelp = metricsHelp
	return cmd
}

// metrics writes metrics in Prometheus's text format. Each sample has the directory as a label,
// so that the files of several users go into one folder.
type metrics struct {
	directory string
	text      strings.Builder
	samples   []sample
}

// sample is a value of a metric, as it is printed with -json.
type sample struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// family begins the samples of a metric.
func (m *metrics) family(name, kind, help string) {
	fmt.Fprintf(&m.text, "# HELP jitcache_%s %s\n# TYPE jitcache_%s %s\n", name, help, name, kind)
}

// sample writes a value of a metric. Labels are names and values in turn.
func (m *metrics) sample(name string, value float64, labels ...string) {
	s := sample{"jitcache_" + name, map[string]string{"directory": m.directory}, value}
	fmt.Fprintf(&m.text, `%s{directory="%s"`, s.Name, label(m.directory))
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
		fmt.Fprintf(&m.text, `,%s="%s"`, labels[i], label(labels[i+1]))
	}
	fmt.Fprintf(&m.text, "} %s\n", strconv.FormatFloat(value, 'f', -1, 64))
	m.samples = append(m.samples, s)
}

// label escapes the value of a label. Prometheus wants UTF-8.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

// counters are the metrics that each kind has.
var counters = []struct {
	name, help string
	value      func(*core.KindStats) float64
}{
	{"puts_total", "Results that were stored.", func(k *core.KindStats) float64 { return float64(k.Puts) }},
	{"compiles_total", "Compiles.", func(k *core.KindStats) float64 { return float64(k.Compiles) }},
	{"compile_seconds_total", "How long the compiles took.", func(k *core.KindStats) float64 { return k.CompileTime }},
	{"saved_seconds_total", "How long the compiles would have taken that hits have saved.", func(k *core.KindStats) float64 { return k.TimeSaved }},
	{"waits_total", "Waits for a compile of another process.", func(k *core.KindStats) float64 { return float64(k.Waits) }},
	{"wait_seconds_total", "How long processes waited for compiles of others.", func(k *core.KindStats) float64 { return k.WaitTime }},
	{"evictions_total", "Entries that were evicted.", func(k *core.KindStats) float64 { return float64(k.Evictions) }},
	{"evicted_bytes_total", "Size of the entries that were evicted.", func(k *core.KindStats) float64 { return float64(k.EvictedBytes) }},
	{"removals_total", "Entries that were removed by a command or program.", func(k *core.KindStats) float64 { return float64(k.Removals) }},
}

func (m *metrics) ofDirectory(s *core.Stats) {
	m.family("entries", "gauge", "Entries in the directory.")
	m.sample("entries", float64(s.Entries))
	m.family("size_bytes", "gauge", "Size of the entries in the directory.")
	m.sample("size_bytes", float64(s.Bytes))
	m.family("max_size_bytes", "gauge", "Cap of the directory, 0 if there is none.")
	m.sample("max_size_bytes", float64(s.MaxSize))
	kinds := sorted(s.Kinds)
	m.family("hits_total", "counter", "Lookups that found an entry, by where it was.")
	for _, kind := range kinds {
		k := s.Kinds[kind]
		for _, of := range []struct {
			tier string
			hits uint64
		}{{"memory", k.HitsMemory}, {"directory", k.HitsDisk}, {"layer", k.HitsLayer}, {"remote", k.HitsRemote}} {
			m.sample("hits_total", float64(of.hits), "kind", kind, "tier", of.tier)
		}
	}
	m.byReason("misses_total", "Lookups that found no entry, by reason.", s, func(k *core.KindStats) map[string]uint64 { return k.MissReasons })
	m.byReason("not_stored_total", "Results that were not stored, by reason.", s, func(k *core.KindStats) map[string]uint64 { return k.NotReasons })
	for _, c := range counters {
		m.family(c.name, "counter", c.help)
		for _, kind := range kinds {
			k := s.Kinds[kind]
			m.sample(c.name, c.value(&k), "kind", kind)
		}
	}
}

func (m *metrics) byReason(name, help string, s *core.Stats, reasons func(*core.KindStats) map[string]uint64) {
	m.family(name, "counter", help)
	for _, kind := range sorted(s.Kinds) {
		k := s.Kinds[kind]
		of := reasons(&k)
		for _, reason := range sorted(of) {
			m.sample(name, float64(of[reason]), "kind", kind, "reason", reason)
		}
	}
}

func (m *metrics) ofRemotes(rows []remoteRow) {
	if len(rows) == 0 {
		return
	}
	m.family("remote_up", "gauge", "1 if the remote is used, and its helper says that it is up.")
	for i := range rows {
		h, why := rows[i].status()
		up := 0.0
		if why == "" && h.State == "up" {
			up = 1
		}
		m.sample("remote_up", up, "remote", rows[i].URL)
	}
	m.family("remote_waiting", "gauge", "Entries that wait to be sent.")
	for i := range rows {
		m.sample("remote_waiting", float64(rows[i].Waiting), "remote", rows[i].URL)
	}
	for _, c := range []struct {
		name, help string
		value      func(*helperStatus) float64
	}{
		{"remote_hits_total", "Entries that the remote had.", func(h *helperStatus) float64 { return float64(h.Hits) }},
		{"remote_misses_total", "Entries that the remote lacked.", func(h *helperStatus) float64 { return float64(h.Misses) }},
		{"remote_errors_total", "Requests that failed.", func(h *helperStatus) float64 { return float64(h.Errors) }},
		{"remote_received_bytes_total", "Bytes from the remote.", func(h *helperStatus) float64 { return float64(h.Received) }},
		{"remote_sent_bytes_total", "Bytes to the remote.", func(h *helperStatus) float64 { return float64(h.Sent) }},
	} {
		m.family(c.name, "counter", c.help)
		for i := range rows {
			if h, why := rows[i].status(); why == "" {
				m.sample(c.name, c.value(&h), "remote", rows[i].URL)
			}
		}
	}
}
