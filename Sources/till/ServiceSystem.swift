import Console

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleSystem {
    var version: String { Till.version }
}
