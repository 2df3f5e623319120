import Synchronization

/// The changes of what a page shows, as events that let the script load it again.
final class ChangeFeed: Sendable {
    private let streams: LiveStreams
    /// The number of changes at the previous reading. Nil if the page may be older than the stream.
    private let known: Mutex<Int?>

    /// - Parameter isReconnected: True if the browser may have missed changes since an earlier stream.
    init(_ streams: LiveStreams, isReconnected: Bool) {
        self.streams = streams
        known = Mutex(isReconnected ? nil : streams.changeCount)
    }

    /// An event if there were changes since the last call.
    func events() -> [LiveEvent] {
        let count = streams.changeCount
        return known.withLock { known in
            defer { known = count }
            return known == count ? [] : [.change]
        }
    }
}
