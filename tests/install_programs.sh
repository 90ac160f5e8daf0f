#!/bin/sh
# The programs that tests use: GNU Octave and the MQTT broker mosquitto as black boxes, Chromium to open reports,
# bubblewrap to isolate programs, a C compiler for programs in C.
#
# Quick when they are there.  Otherwise they are installed with apt-get, as root or through a sudo that asks for no
# password.  Where that is not possible this says so and goes on: the tests that need a missing program then fail, each
# with its name, and the others run.

PATH="$PATH:/usr/sbin:/sbin"

missing() {
    for program in octave:octave-cli mosquitto:mosquitto chromium:chromium bubblewrap:bwrap gcc:gcc libc6-dev:gcc; do
        command -v "${program#*:}" >/dev/null || printf '%s ' "${program%%:*}"
    done
}

wanted=$(missing)
[ -n "$wanted" ] || exit 0

as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"
# shellcheck disable=SC2086  # several words on purpose
{
    $as_root apt-get -q update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $wanted
} >&2

left=$(missing)
[ -z "$left" ] || echo "could not be installed: $left- the tests that need them will fail" >&2
exit 0
