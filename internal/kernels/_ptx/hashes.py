#!/usr/bin/env python3
"""Prints for each FOLDER/FILE.cu the hash of all that "ptx.py check" of it depends on: its source, the
headers that it includes, ptx.py, and its entry of ptx.zip."""

import hashlib

import ptx

entries = ptx.read()
for source in ptx.everything():
    text, made_from = entries.get(ptx.entry(source), ("", ""))
    depends = ptx.digest(source) + made_from + text
    print(f"{hashlib.sha256(depends.encode()).hexdigest()}  {source.relative_to(ptx.KERNELS)}")
