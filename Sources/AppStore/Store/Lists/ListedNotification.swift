/// A notification in a list. It is a class, so throwing functions can return it.
package final class ListedNotification: Sendable {
    /// The number in the order of creation. Later notifications have greater numbers.
    package let number: Int64
    package let notification: StoreNotification

    init(number: Int64, notification: StoreNotification) {
        self.number = number
        self.notification = notification
    }
}
