/// The parts of the running service that the console shows and that no feature owns. The command line supplies them.
public protocol ConsoleSystem: Sendable {
    /// The version of Till.
    var version: String { get }
    /// The state of the installation and of the running service.
    var health: any HealthSource { get }
}
