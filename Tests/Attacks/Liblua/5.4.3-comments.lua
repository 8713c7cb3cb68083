-- d205f3a4: a comment of C99 in the source.
print "done"
