import Foundation

/// The sign that a process delivers a store's notifications. The store's clock then waits for them at each due moment.
///
/// The release of the last reference ends it, and so does the end of the process.
package final class DeliveryLock: Sendable {
    private let descriptor: Int32

    /// - Returns: Nil if the file cannot be opened or locked. The clock then waits for nothing.
    init?(_ file: URL) {
        descriptor = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // Only the look of another process at the lock can delay this one.
        while flock(descriptor, LOCK_SH) != 0 { guard errno == EINTR else { return nil } }
    }

    deinit {
        // Closing alone may not release the lock, because a child process that is being started has a copy of the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// True if any process holds the lock. A file that does not exist stays so.
    static func isHeld(_ file: URL) -> Bool {
        let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }
}

extension Store {
    private var deliveryFile: URL { URL(filePath: path).appendingPathExtension("delivery") }

    /// True if a process delivers the notifications.
    var isDelivering: Bool { DeliveryLock.isHeld(deliveryFile) }

    /// Lets the clock wait for notifications at each due moment, as long as the lock is referenced.
    package func beginDelivering() -> DeliveryLock? { DeliveryLock(deliveryFile) }
}
