"""Examine an adapter: does the system keep the promises it declares?"""
