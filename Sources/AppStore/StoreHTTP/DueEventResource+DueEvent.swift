extension DueEventResource {
    package init(_ event: DueEvent) {
        self.init(
            kind: event.kind.rawValue, date: event.date.rfc3339, account: event.account,
            productId: event.productIdentifier, transactionId: event.transactionIdentifier)
    }
}
