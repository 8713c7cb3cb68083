// Types of another library with the same names as types of the engine.

/// A type of this name.
public enum Engine {}
/// A type of this name.
public enum Node {}
/// A type of this name.
public enum NodeRef {}
/// A type of this name.
public enum Child {}
/// A type of this name.
public enum Element {}
/// A type of this name.
public enum NodeKind {}
/// A type of this name.
public enum Slot {}
/// A type of this name.
public enum SlotRef {}
/// A type of this name.
public enum WatcherRecord {}
/// A type of this name.
public enum WatcherRef {}
/// A type of this name.
public enum Change {}
/// A type of this name.
public enum Receiver {}
/// A type of this name.
public enum DeclaredDependency {}
/// A type of this name.
public enum Computation {}
/// A type of this name.
public enum EngineRecorder {}
/// A type of this name.
public enum ImmediateChange {}
/// A type of this name.
public enum Operand {}
/// A type of this name.
public enum Member {}
/// A type of this name.
public enum MemberScope {}
