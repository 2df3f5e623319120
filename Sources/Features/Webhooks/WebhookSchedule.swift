import Proofs

/// The retry schedule of failed deliveries: growing delays for three days.
package enum WebhookSchedule {
    package static let backoff = Backoff(delays: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
}
