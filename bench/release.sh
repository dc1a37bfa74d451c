#!/bin/sh
# Refuse to publish what names no owner, or another version than the tag:
#   sh bench/release.sh v0.3.0 dist/*
set -eu
version=${1#v}
shift
for file; do
    case $file in
        *.whl) metadata=$(unzip -p "$file" '*.dist-info/METADATA') ;;
        *) metadata=$(tar -xzOf "$file" "$(basename "$file" .tar.gz)/PKG-INFO") ;;
    esac
    if printf "%s\n" "$metadata" | grep -m 1 OWNER; then
        echo "$file names the placeholder OWNER: make owner OWNER=name" >&2
        exit 1
    fi
    if ! printf "%s\n" "$metadata" | grep -qx "Version: $version"; then
        echo "$file is not of version $version, as the tag says" >&2
        exit 1
    fi
done
