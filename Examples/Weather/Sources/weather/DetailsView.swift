/// A view in Lua: the details of the selected station.
///
/// The path leads through the selection to a lazy property: observing the property loads it.
let detailsView = """
  local obs = require "obs"

  obs.observe(forecast, { "selected.details", "problem" }, function(forecast)
    local station = forecast.selected
    local details = station and station.details
    if forecast.problem then
      print("details", forecast.problem)
    elseif details then
      print("details", ("%s: %s, wind %g km/h"):format(station.name, details.outlook, details.wind))
    elseif station then
      print("details", station.name .. " …")
    end
  end)
  """
