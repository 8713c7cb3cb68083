import ObservableModels

// An edit compiles this file without that of the class.
let streetOfUser = #path(\User.address?.street)
