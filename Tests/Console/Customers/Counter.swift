import Synchronization

/// A number that concurrent code counts up.
final class Counter: Sendable {
    private let number = Mutex(0)

    var count: Int { number.withLock { $0 } }

    func add() { number.withLock { $0 += 1 } }
}

/// A text that is set after a closure has captured it.
final class Box: Sendable {
    private let text: Mutex<String>

    init(_ text: String) {
        self.text = Mutex(text)
    }

    var value: String {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = newValue } }
    }
}
