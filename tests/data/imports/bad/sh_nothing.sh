#!/bin/bash
echo hello
python train.py
