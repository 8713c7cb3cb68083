-- d205f3a4: the source contains a C99 comment.
print "done"
