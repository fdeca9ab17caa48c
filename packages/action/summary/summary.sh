#!/usr/bin/env bash
# Writes the counters of this job to its summary.
set -euo pipefail

{
	echo "### jitcache"
	echo '```'
	jitcache stats
	echo '```'
} >>"$GITHUB_STEP_SUMMARY"
