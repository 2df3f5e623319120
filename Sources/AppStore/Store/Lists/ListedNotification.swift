/// A notification in a list. It is a class, so throwing functions can return it.
public final class ListedNotification: Sendable {
    /// The number in the order of creation. Later notifications have greater numbers.
    public let number: Int64
    public let notification: StoreNotification

    init(number: Int64, notification: StoreNotification) {
        self.number = number
        self.notification = notification
    }
}
