#if Records
  @_exported public import GRDB
  @_exported public import ObservableModels
#endif
