/// The part of the places in the queue of commits that a request may take.
///
/// If many requests wait, those that are cheapest to send again are refused first, so that purchases find a place.
package enum CommitPriority: Sendable, CaseIterable {
    /// The first quarter of the places.
    case low
    /// The first half of the places.
    case medium
    /// All places.
    case high

    /// The priority of the use cases of a task.
    @TaskLocal package static var current = high

    /// The number of requests that may wait before a further one is refused.
    func places(of maximum: Int) -> Int {
        switch self {
        case .low: maximum / 4
        case .medium: maximum / 2
        case .high: maximum
        }
    }
}
