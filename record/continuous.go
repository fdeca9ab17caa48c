// The variables of services for continuous integration.

package record

import "jitcache/core/wildcard"

// continuous are the variables by which services for continuous integration name a run, a job, a commit and where its
// files are, as their manuals list them. They differ in each run. Known programs ask for none of them
// (asked_test.go), so in a tree of known programs they do not count, even where a file has such a word in it: clang's library has
// NT_GNU_BUILD_ID. Any other program may obey them, and they count unless it is not given them (Filter).
var continuous = []string{
	"CI", "CI_*", "CONTINUOUS_INTEGRATION",
	"GITHUB_*", "RUNNER_*", "ACTIONS_*", // GitHub Actions, "Variables reference"
	"GITLAB_*", // GitLab, "Predefined CI/CD variables reference", beside CI_*
	// Jenkins, "Using environment variables", and its plugins for git and display URLs.
	"BUILD_*", "JOB_NAME", "JOB_BASE_NAME", "JOB_URL", "JOB_DISPLAY_URL", "RUN_DISPLAY_URL", "RUN_*_DISPLAY_URL", "JENKINS_*", "HUDSON_*",
	"EXECUTOR_NUMBER", "NODE_NAME", "NODE_LABELS", "WORKSPACE", "WORKSPACE_TMP", "STAGE_NAME", "BRANCH_NAME", "CHANGE_*", "TAG_*",
	"GIT_COMMIT", "GIT_BRANCH", "GIT_LOCAL_BRANCH", "GIT_PREVIOUS_*", "GIT_URL*",
	"SYSTEM_*", "AGENT_*", "TF_BUILD", // Azure Pipelines, "Use predefined variables", beside BUILD_*
	"BUILDKITE*", "CIRCLE*", "TRAVIS*", "APPVEYOR*", "TEAMCITY_*", "DRONE*", "BITBUCKET_*", "CIRRUS_*", "SEMAPHORE*", "CODEBUILD_*",
}

// ofFakeroot say which process answers fakeroot's library.
var ofFakeroot = []string{"FAKEROOTKEY", "FAKED_MODE", "FAKEROOT_*"}

// isUnasked reports whether no known program asks for a variable: it names a run, or is one of running numerical libraries.
func isUnasked(name string) bool {
	return (continuousNames().has(name) || numericalNames().has(name) || wildcard.MatchesAny(name, ofFakeroot)) && excusesRuns
}
