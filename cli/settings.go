// What `jitcache config` prints: each setting, its value, and where that comes from.

package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"jitcache/core"
	"jitcache/core/store"
	"jitcache/core/trust"
	"jitcache/launch/project"
)

// settingRow is a setting. The source is a variable, the path of a file, or "default".
type settingRow struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

const fromDefault = "default"

// hasConfig reports whether a directory has settings of its own. It follows no link below the directory.
func hasConfig(root string) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer r.Close()
	_, err = r.Lstat("v1/config")
	return err == nil
}

// settingRows returns all settings for a command in this folder, and what is wrong with the
// file of the project, "" if nothing is.
func (c *command) settingRows(root string, cfg store.Config) (rows []settingRow, problem string) {
	o := c.options()
	dir, rule := o.Directory()
	config := fromDefault
	if hasConfig(root) {
		config = root + "/v1/config"
	}
	rows = []settingRow{
		{"directory", dir, rule},
		{"max-size", fmt.Sprint(cfg.MaxSize), config},
		{"shared", fmt.Sprint(cfg.Shared), config},
	}
	given := map[string]settingRow{}
	for _, set := range trust.Read(c.env, o.SettingsFolders()).All {
		if _, before := given[set.Name]; !before {
			given[set.Name] = settingRow{Value: set.Value, Source: set.Source}
		}
	}
	ofProject, problem := projectSettings()
	for variable, row := range ofProject {
		given[variable] = row
	}
	names := map[string]string{} // of a variable
	for _, n := range trust.Names {
		names[n.Variable] = n.Name
	}
	for _, n := range project.Names {
		names[n.Variable] = n.Name
	}
	for _, v := range core.Variables {
		if v.Name == "JITCACHE_DIR" {
			continue // is the directory
		}
		row := settingRow{v.Name, "", fromDefault}
		if name := names[v.Name]; name != "" {
			row.Name = name
		}
		for _, from := range []settingRow{given[v.Name], given[row.Name]} {
			if from.Source != "" {
				row.Value, row.Source = from.Value, from.Source
			}
		}
		if slices.Contains(c.variables, v.Name) { // an empty one counts too
			row.Value, row.Source = c.env(v.Name), v.Name
		}
		if row.Name == "remotes" {
			row.Value = core.ShownRemotes(row.Value)
		}
		rows = append(rows, row)
	}
	return rows, problem
}

// projectSettings returns what the project sets that this process is in, by variable.
func projectSettings() (settings map[string]settingRow, problem string) {
	settings = map[string]settingRow{}
	folder, err := os.Getwd()
	if err != nil {
		return settings, ""
	}
	path := project.Find(folder)
	if path == "" {
		return settings, ""
	}
	set, err := project.Read(path)
	if err != nil {
		return settings, fmt.Sprintf("%s is ignored: %v", path, err)
	}
	for _, s := range set {
		settings[s.Variable] = settingRow{Value: s.Value, Source: path}
	}
	return settings, ""
}

func (c *command) printSettings(root string, cfg store.Config) error {
	rows, problem := c.settingRows(root, cfg)
	object := map[string]any{"max_size": cfg.MaxSize, "shared": cfg.Shared, "settings": rows}
	if problem != "" {
		object["problem"] = problem
	}
	err := c.printAnswer(object, func() {
		w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		printSettingRows(w, rows)
		w.Flush()
	})
	if err == nil && problem != "" {
		return no(problem)
	}
	return err
}

func printSettingRows(w io.Writer, rows []settingRow) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s = %s\t%s\n", line(r.Name), line(r.Value), line(r.Source))
	}
}
