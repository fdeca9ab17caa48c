// Where the helper of a remote listens: its socket's folder and name, and its environment.

package remote

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"jitcache/core/key"
)

// Passed are the variables that a helper gets. They say where it finds credentials and
// certificates, and how it reaches the network. Programs that differ in one have different
// helpers.
var Passed = []string{
	"HOME", "PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
	"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
	"AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED",
	"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
}

// Idle is after how many seconds without a request a helper ends. It outlives its job by no more,
// and starting another takes 10 ms.
const Idle = "60"

// environment returns the variables of a helper.
func (r *Remote) environment() []string {
	var all []string
	for _, name := range Passed {
		if v := r.options.Env(name); v != "" {
			all = append(all, name+"="+v)
		}
	}
	all = append(all, "CRSH_URL="+r.URL, "CRSH_IDLE_TIMEOUT="+Idle, "CRSH_NUM_ATTR="+strconv.Itoa(len(r.Attributes)/2))
	for i, text := range r.Attributes {
		name := [2]string{"CRSH_ATTR_KEY_", "CRSH_ATTR_VALUE_"}[i%2]
		all = append(all, name+strconv.Itoa(i/2)+"="+text)
	}
	return all
}

// socketName returns the name of the socket of the helper with these settings, of this build and
// in the namespaces of this process: in another network or mount namespace the same names may
// lead to other hosts and directories.
func (r *Remote) socketName(environment []string) string {
	var st syscall.Stat_t
	syscall.Stat(r.options.Program, &st)
	texts := append([]string{protocol}, environment...)
	for _, n := range []int64{int64(st.Dev), int64(st.Ino), st.Size, st.Mtim.Sec, st.Mtim.Nsec} {
		texts = append(texts, strconv.FormatInt(n, 10))
	}
	for _, space := range []string{"mnt", "net", "user", "pid"} {
		text, _ := os.Readlink("/proc/self/ns/" + space)
		texts = append(texts, text)
	}
	return "remote-" + short(texts)
}

// protocol is part of each socket's name, so that incompatible releases have different helpers.
const protocol = "jitcache 1"

// mostSocket is how long the path of a socket may be.
const mostSocket = 107

// socketPath returns the folder of the sockets, and makes it if it is missing. Only this user may write
// it: another could answer in place of a helper.
func (r *Remote) socketPath() (string, error) {
	dir := r.options.Folder
	if len(dir) > mostSocket-32 && shortensPlace {
		dir = "/tmp/jitcache-" + strconv.Itoa(os.Geteuid())
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(dir, &st); err != nil {
		return "", err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		return "", errors.New(dir + " is not a folder of this user alone")
	}
	return dir, nil
}

// short is a digest of texts, 16 digits.
func short(texts []string) string {
	return key.ID(key.Sum(key.AppendTexts(nil, texts...))).String()[:16]
}
