#if !Macros
  #error(
    """
    ObservableModels needs the trait 'Macros' of its package: \
    .package(url: "…", from: "…", traits: ["Macros"])
    """)
#endif
