#!/usr/bin/env bash
# Installs jitcache, sets the directory for the steps that follow, and makes links in front of PATH.
set -euo pipefail

if [ -n "$INSTALL" ]; then
	python3 -m pip install --quiet "$INSTALL"
fi
export JITCACHE_DIR="$GITHUB_WORKSPACE/$DIRECTORY"
echo "JITCACHE_DIR=$JITCACHE_DIR" >>"$GITHUB_ENV"
jitcache config max-size "$MAX_SIZE"
jitcache stats -zero >/dev/null

folder="$RUNNER_TEMP/jitcache-links"
mkdir -p "$folder"
for name in $LINKS; do
	ln -sf "$(command -v jitcache)" "$folder/$name"
done
echo "$folder" >>"$GITHUB_PATH"
