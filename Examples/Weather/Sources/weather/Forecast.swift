import Observables

/// The weather, as far as the app has loaded it.
///
/// Views only read it; reading a missing value loads it.
final class Forecast: ObservableModel {
  static let properties = ModelProperties(for: Forecast.self) {
    Property("stations", get: { $0.stations })
    Property("selected", get: { $0.selected }, set: { $0.selected = $1 })
    Property("problem", get: { $0.problem }, set: { $0.problem = $1 })
  }
  let observation = ModelObservation()
  let stations = ObservableArray<Station>()
  var selected: Station? { didSet { observation.didSet(1, from: oldValue, to: selected) } }
  /// The last error.
  var problem: String? { didSet { observation.didSet(2, from: oldValue, to: problem) } }
  private let client: WebClient

  init(_ client: WebClient) { self.client = client }

  /// Loads the list of stations; the objects of known stations stay the same.
  func refresh() {
    client.get("stations", as: [StationReport].self) { [weak self] result in
      guard let self else { return }
      do {
        for report in try result.get() { take(report) }
      } catch {
        problem = "\(error)"
      }
    }
  }

  private func take(_ report: StationReport) {
    guard let station = stations.elements.first(where: { $0.id == report.id }) else {
      let station = Station(report, in: self)
      stations.append(station)
      return
    }
    station.temperature = report.temperature
    // They are loaded again on the next read, which is now if a view shows them.
    station.$details.invalidate()
  }

  fileprivate func loadDetails(of station: Station) {
    client.get("stations/\(station.id)", as: DetailsReport.self) { [weak self] result in
      do {
        station.details = Details(try result.get())
      } catch {
        self?.problem = "\(station.name): \(error)"
      }
    }
  }
}

final class Station: ObservableModel {
  static let properties = ModelProperties(for: Station.self) {
    Property("name", get: { $0.name })
    Property("temperature", get: { $0.temperature }, set: { $0.temperature = $1 })
    // The loader sends a request and stores nothing yet: the value is nil, and valid, so it is
    // requested only once. The answer is assigned later, and the watchers are called.
    Property("details", lazy: { $0.$details }, loader: { station, _ in station.load() })
  }
  let observation = ModelObservation()
  let id: Int
  let name: String
  var temperature: Double {
    didSet { observation.didSet(1, from: oldValue, to: temperature) }
  }
  @Lazy var details: Details?
  private weak var forecast: Forecast?

  fileprivate init(_ report: StationReport, in forecast: Forecast) {
    (id, name, temperature) = (report.id, report.name, report.temperature)
    self.forecast = forecast
  }

  private func load() { forecast?.loadDetails(of: self) }
}

final class Details: ObservableModel {
  static let properties = ModelProperties(for: Details.self) {
    Property("outlook", get: { $0.outlook })
    Property("wind", get: { $0.wind })
  }
  let observation = ModelObservation()
  let outlook: String
  let wind: Double

  fileprivate init(_ report: DetailsReport) { (outlook, wind) = (report.outlook, report.wind) }
}

/// The service's report on a station.
private struct StationReport: Decodable {
  let id: Int
  let name: String
  let temperature: Double
}

/// The service's report on the details of a station.
private struct DetailsReport: Decodable {
  let outlook: String
  let wind: Double
}
