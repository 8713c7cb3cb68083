/// The namespace of the engine's types.
///
/// Public only by name, because some public classes inherit from these types. Programs do not use
/// it, and may have types of the same names.
@_documentation(visibility: internal)
public enum ObservationCore {}

// Inside this package the types are used without the namespace.

@usableFromInline package typealias Engine = ObservationCore.Engine
@usableFromInline package typealias Node = ObservationCore.Node
@usableFromInline package typealias NodeRef = ObservationCore.NodeRef
@usableFromInline package typealias Child = ObservationCore.Child
@usableFromInline package typealias Element = ObservationCore.Element
@usableFromInline package typealias NodeKind = ObservationCore.NodeKind
@usableFromInline package typealias Slot = ObservationCore.Slot
@usableFromInline package typealias SlotRef = ObservationCore.SlotRef
@usableFromInline package typealias WatcherRecord = ObservationCore.WatcherRecord
@usableFromInline package typealias WatcherRef = ObservationCore.WatcherRef
@usableFromInline package typealias Change = ObservationCore.Change
@usableFromInline package typealias Receiver = ObservationCore.Receiver
@usableFromInline package typealias DeclaredDependency = ObservationCore.DeclaredDependency
@usableFromInline package typealias Computation = ObservationCore.Computation
@usableFromInline package typealias EngineRecorder = ObservationCore.EngineRecorder
@usableFromInline package typealias ImmediateChange = ObservationCore.ImmediateChange
@usableFromInline package typealias Operand = ObservationCore.Operand
@usableFromInline package typealias Member = ObservationCore.Member
@usableFromInline package typealias MemberScope = ObservationCore.MemberScope
