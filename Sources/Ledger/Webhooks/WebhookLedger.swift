import Commerce

/// Whom the ledger tells what happens to users, and what is on its way; each call as those of `Ledger` are.
///
/// A message is written in the commit of what it tells of, for each endpoint there is then: grants, revocations and transfers.
public protocol WebhookLedger: EventLedger {
    /// - Parameter maximum: How many endpoints there may be.
    /// - Returns: false where there are as many as there may be.
    func add(_ endpoint: WebhookEndpoint, upTo maximum: Int) throws(StorageFault) -> Bool

    /// Oldest first.
    func webhookEndpoints() throws(StorageFault) -> [WebhookEndpoint]

    func webhookEndpoint(_ identifier: String) throws(StorageFault) -> WebhookEndpoint?

    /// Has messages sent to another address, those on their way too.
    ///
    /// - Returns: The endpoint as it is then; nil where there is none.
    func setURL(_ url: String, ofWebhookEndpoint identifier: String) throws(StorageFault) -> WebhookEndpoint?

    /// Replaces an endpoint's secret, which signs beside the new one until it ends.
    ///
    /// - Returns: false where the endpoint has another secret than `presented` by now, or is gone.
    func replace(
        _ presented: [UInt8],
        with secret: [UInt8],
        ending moment: Timestamp,
        ofWebhookEndpoint identifier: String
    ) throws(StorageFault) -> Bool

    /// Ends an endpoint, and whatever is on its way to it, which `forgetWebhooks` takes out.
    ///
    /// - Returns: false where there is none.
    func removeWebhookEndpoint(_ identifier: String, at moment: Timestamp) throws(StorageFault) -> Bool

    /// What was and is on its way to an endpoint, newest first.
    ///
    /// - Parameters:
    ///   - state: nil for all.
    ///   - position: Only those before; nil for all.
    func webhookDeliveries(
        to identifier: String,
        in state: WebhookDelivery.State?,
        before position: WebhookDeliveryPosition?,
        limit: Int
    ) throws(StorageFault) -> [WebhookDelivery]

    /// Has a message sent anew, whatever has become of it.
    ///
    /// - Returns: What it is then; nil where there is none.
    func replay(_ message: String, to endpoint: String) throws(StorageFault) -> WebhookDelivery?

    /// Has messages sent anew that have failed, the oldest first.
    ///
    /// - Returns: How many; `limit` where there may be more.
    func replayFailed(to endpoint: String, limit: Int) throws(StorageFault) -> Int

    /// Endpoints for which something is due.
    func dueWebhookEndpoints(at moment: Timestamp) throws(StorageFault) -> [WebhookEndpoint]

    /// What is due for an endpoint, what was never tried first.
    func dueWebhooks(
        to endpoint: String,
        at moment: Timestamp,
        limit: Int
    ) throws(StorageFault) -> [WebhookDelivery]

    /// Takes what was due, so that nobody else sends it until `end`; whoever has taken it and is gone by then has tried it.
    ///
    /// - Returns: As they are then, without those that somebody else has taken meanwhile.
    func take(
        _ deliveries: [WebhookDelivery],
        at moment: Timestamp,
        until end: Timestamp
    ) throws(StorageFault) -> [WebhookDelivery]

    /// Remembers how attempts have ended; one that somebody else has taken meanwhile stays as it is.
    func record(_ results: [WebhookResult]) throws(StorageFault)

    /// Forgets messages that have arrived and tell of what happened before a moment, and those to endpoints that are removed.
    ///
    /// - Returns: How many; `limit` where there may be more.
    func forgetWebhooks(before moment: Timestamp, limit: Int) throws(StorageFault) -> Int
}
