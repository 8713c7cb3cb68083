import Observables
import ProtocolObservers
import Synchronization

// A protocol has the calls that an observed object makes. Any conforming object may register.
protocol PriceObserver: AnyObject {
  func price(of item: Item, changedFrom old: Int, to new: Int)
}
protocol StockObserver: AnyObject {
  func stock(of item: Item, changedTo count: Int)
}

final class Item: ProtocolObservable {
  let observers = ObserverRegistry<Never>()
  let name: String
  var price = 0 {
    didSet {
      withObservers { (observer: any PriceObserver) in
        observer.price(of: self, changedFrom: oldValue, to: price)
      }
    }
  }
  var stock = 0 {
    didSet {
      withObservers { (observer: any StockObserver) in
        observer.stock(of: self, changedTo: stock)
      }
    }
  }
  init(_ name: String) { self.name = name }
}

final class PriceTag: PriceObserver {
  func price(of item: Item, changedFrom old: Int, to new: Int) {
    print("\(item.name): \(old) → \(new)")
  }
}

final class Warehouse: PriceObserver, StockObserver {
  func price(of item: Item, changedFrom old: Int, to new: Int) {
    if new > old { print("order more \(item.name)") }
  }
  func stock(of item: Item, changedTo count: Int) { print("\(count) × \(item.name)") }
}

let tea = Item("tea")
let warehouse = Warehouse()
do {
  let tag = PriceTag()
  tea.addObservers([tag, warehouse] as [AnyObject])
  tea.price = 4
  tea.stock = 20
}
// The tag no longer exists, so only the warehouse is called.
tea.price = 3

// Observers of some keys of a dictionary.
protocol EntryObserver: AnyObject {
  func entry(_ key: String, is value: String)
}

final class Registry: SharedProtocolObservable {
  let observers = SharedObserverRegistry<String>()
  private let entries = Mutex<[String: String]>([:])

  subscript(key: String) -> String? {
    get { entries.withLock { $0[key] } }
    set {
      entries.withLock { $0[key] = newValue }
      guard let newValue else { return }
      withObservers(for: key) { (key, observer: any EntryObserver) in
        observer.entry(key, is: newValue)
      }
    }
  }
}

final class Screen: EntryObserver {
  private(set) var lines: [String] = []
  func entry(_ key: String, is value: String) { lines.append("\(key) = \(value)") }
}

// A thread that writes to the registry. The screen is called in the loop it registered from.
final class Loader: ObservableThread, @unchecked Sendable {
  private let registry: Registry
  init(into registry: Registry) { self.registry = registry }
  override func main() {
    for key in ["title", "author", "size"] { registry[key] = key.uppercased() }
  }
}

let loop = Loop()
let (registry, screen) = (Registry(), Screen())
registry.addObserver(screen, for: ["title", "size"])
let loader = Loader(into: registry)
loader.start()
loader.join()
print("before the loop runs:", screen.lines)
loop.run()
print("after:", screen.lines)
