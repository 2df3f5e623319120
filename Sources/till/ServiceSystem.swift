import Console

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleSystem {
    let health: any HealthSource

    var version: String { Till.version }
}
