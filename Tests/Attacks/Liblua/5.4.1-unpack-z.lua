-- f83de8e3: string.unpack "z" counts in too few bits; the fault needs two gigabytes.
assert(string.unpack("z", ("x"):rep(100000) .. "\0") == ("x"):rep(100000))
assert(not pcall(string.rep, "x", (1 << 31) + 8))
print "done"
