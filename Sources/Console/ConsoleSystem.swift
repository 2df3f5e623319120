/// The parts of the running service that the console shows and that no feature owns. The command line supplies them.
package protocol ConsoleSystem: Sendable {
    /// The version of Till.
    var version: String { get }
    /// The state of the installation and of the running service.
    var health: any HealthSource { get }

    /// True if webhooks may be in networks that are not public.
    var allowsPrivateWebhooks: Bool { get }

    /// True if the service answers consumption requests.
    var answersConsumptionRequests: Bool { get }

    /// The reconciliations with the App Store: one for each app and address; none without a key.
    func reconciliations() async throws -> [ConsoleReconciliation]

    /// Requests a run of a reconciliation now.
    ///
    /// - Parameter identifier: The identifier of the reconciliation.
    /// - Returns: False if a run is under way or already requested; nil for an unknown identifier.
    func requestReconciliation(_ identifier: String, _ subject: ConsoleReconciliation.Subject) -> Bool?
}
