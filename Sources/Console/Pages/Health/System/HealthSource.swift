/// The state of the installation and of the running service, for the pages of its health. The command line supplies it.
package protocol HealthSource: Sendable {
    /// Runs the checks of `till doctor` that suit a running service. This takes some milliseconds, and blocks no request.
    func checks() async -> [HealthCheck]
    /// The trusted roots and the TLS certificate. An unreadable file is a problem of the checks.
    func certificates() async -> [HealthCertificate]
    func ledger() async throws -> HealthLedger
    var performance: HealthPerformance { get }
    /// The settings without secrets, in the order of the documentation.
    var settings: [HealthSetting] { get }
    /// The names and versions of Till and of the parts that it was built with.
    var versions: [(name: String, version: String)] { get }
    /// The remarks that the service printed at its start, in English.
    var startNotes: [String] { get }
}
