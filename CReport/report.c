// The page that shows a recording, as bytes of the program.
#include "creport.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char html[] = {
#embed "Page/report.html"
};

static const char style[] = {
#embed "Page/report.css"
};

static const char graphs[] = {
  '/', '*', '\n',
#embed "Page/dagre.LICENSE"
  , '*', '/', '\n',
#embed "Page/dagre.min.js"
};

// The scripts share one scope, in this order.
static const char script[] = {
#embed "Page/recording.js"
  ,
#embed "Page/state.js"
  ,
#embed "Page/text.js"
  ,
#embed "Page/turn.js"
  ,
#embed "Page/timeline.js"
  ,
#embed "Page/tree.js"
  ,
#embed "Page/graph.js"
  ,
#embed "Page/details.js"
  ,
#embed "Page/lists.js"
  ,
#embed "Page/search.js"
  ,
#embed "Page/live.js"
  ,
#embed "Page/page.js"
};

const char *creport_bytes(creport_part part, size_t *count) {
  switch (part) {
    case CREPORT_HTML: *count = sizeof html; return html;
    case CREPORT_STYLE: *count = sizeof style; return style;
    case CREPORT_GRAPHS: *count = sizeof graphs; return graphs;
    case CREPORT_SCRIPT: *count = sizeof script; return script;
  }
  *count = 0;
  return "";
}
