import ObservableModels

// After an edit, the compiler compiles this file without the file of the class.
let streetOfUser = #path(\User.address?.street)
