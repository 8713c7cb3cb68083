import Foundation
import LuaObservables
import Observables

// The service runs on this machine, so a proxy of the environment is ignored.
setenv("no_proxy", "127.0.0.1", 1)

let service = try LocalService()
let loop = Loop()
let client = WebClient(URL(string: "http://127.0.0.1:\(service.port)")!, loop: loop)
let forecast = Forecast(client)
let table = try TableView(forecast)
let host = try LuaHost(loop: loop)
host["forecast"] = forecast
try host.run(detailsView, name: "=details")

/// Performs a step, and waits until all requested answers have been shown.
@MainActor func step(_ text: String, _ body: () -> Void) {
  print("— \(text)")
  loop.turn(body)
  loop.run()
}

step("The list of stations is loaded; no details are") { forecast.refresh() }
step("London is selected: its details are on view, so they are loaded") {
  forecast.selected = forecast.stations[0]
}
step("Oslo is selected") { forecast.selected = forecast.stations[1] }
step("London again: it is there") { forecast.selected = forecast.stations[0] }
step("All is loaded again; of the details only those on view") { forecast.refresh() }
step("Nobody knows more of Atlantis") { forecast.selected = forecast.stations[2] }

print("The service was asked for", service.requests.joined(separator: " "))
