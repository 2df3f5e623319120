import Synchronization

/// The trusted roots of a verifier, and the valid chains to them.
///
/// Both are replaced together, so no kept chain outlives its root. A verification under way ends with the roots of its beginning.
final class CurrentTrust: Sendable {
    /// Roots with the chains that were validated by them.
    final class State: Sendable {
        let anchors: TrustAnchors
        let chains = ChainCache()

        init(_ anchors: TrustAnchors) { self.anchors = anchors }
    }

    private let current: Mutex<State>

    init(_ anchors: TrustAnchors) { current = Mutex(State(anchors)) }

    var state: State { current.withLock(\.self) }

    func replace(with anchors: TrustAnchors) {
        let state = State(anchors)
        current.withLock { $0 = state }
    }
}
