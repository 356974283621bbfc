#!/bin/sh
# What the action does, for any CI: OLD, NEW and FAIL_ON in the environment.
set -u
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
graymatter contract diff --markdown "$OLD" "${NEW:-.}" >>"$summary"
case $? in
    0) level=prose ;;
    2) level=additive ;;
    3) level=breaking ;;
    *) exit 1 ;;
esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "level=$level" >>"$GITHUB_OUTPUT"; fi
case "${FAIL_ON:-breaking}/$level" in
    breaking/breaking | additive/additive | additive/breaking) exit 1 ;;
esac
