import Observables

/// A view in Swift: all stations in one line, redrawn after each change.
final class TableView {
  init(_ forecast: Forecast) throws {
    // The view need not keep the watcher, which ends with the view.
    let options = WatcherOptions(observer: self)
    try forecast.observe("stations.*.temperature", "selected", options: options) {
      [unowned self] forecast in draw(forecast)
    }
  }

  private func draw(_ forecast: Forecast) {
    let cells = forecast.stations.elements.map { station in
      let mark = station === forecast.selected ? "▸" : " "
      return "\(mark)\(station.name) \(Int(station.temperature))°"
    }
    print("table  ", cells.joined(separator: "  "))
  }
}
