/// The lines of a chain of purchase tokens. Each line is a purchase of its own: the base of a subscription and each of its add-ons
/// renews, ends and is refunded by itself (developer.android.com/google/play/billing/subscription-with-addons, "Process purchases",
/// "Revoke individual item"). So does each product of a one-time purchase.
///
/// A product keeps the line that it had when the ledger first saw it. A charge keeps its identifier and its beginning. So neither
/// follows from what a later answer happens to hold: an item that is missing, another order of the items, an order that comes later.
package struct GooglePlayLines: Hashable, Sendable {
    /// A product of the chain, with its last charge.
    package struct Product: Hashable, Sendable {
        package let productId: String
        /// The line: empty for the main one, else the product with which it has begun.
        package let line: String
        /// The token that has the product. In a replacement, the new token takes over what the old one has.
        package var purchaseToken: String
        /// The transaction of the last charge.
        package var charge: String
        /// Nil for a promotion, and before Google Play shows the order.
        package var orderId: String?
        package var beginsAt: Timestamp
        /// The end of the paid time; nil for a one-time product that is not rented.
        package var endsAt: Timestamp?
        /// The last answer without access, such as on hold or in a pause, since the charge; nil for none.
        package var lapsedAt: Timestamp?
        /// True if the charge has one before it.
        package var isRenewal: Bool
        /// The number of the last answer that states the product.
        package var statementNumber: Int64

        package init(
            _ productId: String, in line: String, of purchaseToken: String, charge: String, orderId: String?,
            from beginsAt: Timestamp, to endsAt: Timestamp?, lapsedAt: Timestamp? = nil, isRenewal: Bool = false,
            number: Int64 = 0
        ) {
            (self.productId, self.line, self.purchaseToken) = (productId, line, purchaseToken)
            (self.charge, self.orderId, self.beginsAt, self.endsAt) = (charge, orderId, beginsAt, endsAt)
            (self.lapsedAt, self.isRenewal, statementNumber) = (lapsedAt, isRenewal, number)
        }
    }

    package private(set) var products: [Product]

    package init(_ products: [Product] = []) { self.products = products }

    subscript(productId: String) -> Product? {
        get { products.first { $0.productId.hasSameBytes(as: productId) } }
        set {
            products.removeAll { $0.productId.hasSameBytes(as: productId) }
            if let newValue { products.append(newValue) }
        }
    }

    /// The other charge of a line that ends last.
    fileprivate func charge(before charge: String, in line: String) -> Product? {
        products.filter { $0.line.hasSameBytes(as: line) && !$0.charge.hasSameBytes(as: charge) }
            .max { ($0.endsAt ?? $0.beginsAt) < ($1.endsAt ?? $1.beginsAt) }
    }

    /// The original transaction of a line.
    ///
    /// - Parameter name: The name of the chain's first token.
    static func original(of line: String, in name: String) -> String { line.isEmpty ? name : "\(name):\(line)" }
}

/// The line of each product of an answer, and its charge.
struct GooglePlayPlacement {
    struct Place {
        /// The order and the end of the item, which tell it from another plan of the same product.
        let stated: (orderId: String?, expiryTime: Timestamp?)
        let product: GooglePlayLines.Product
        /// The original transaction of the line.
        let original: String
        /// The dates of the charge that were known before the answer; nil for a new charge.
        let known: GooglePlayPeriod?
        /// True if the answer is the last one about the product.
        let isNews: Bool
        /// True if a later token has the product with the same charge, so that this answer says nothing of it.
        let isSuperseded: Bool
    }

    /// The lines after the answer.
    fileprivate(set) var lines: GooglePlayLines
    fileprivate(set) var places: [Place] = []

    subscript(productId: String) -> Place? {
        places.last { $0.product.productId.hasSameBytes(as: productId) }
    }

    subscript(item: GooglePlayAnswer.SubscriptionLineItem) -> Place? {
        places.first {
            $0.product.productId.hasSameBytes(as: item.productId) && $0.stated == (item.orderId, item.expiryTime)
        }
    }

    /// The original transaction of another line of the answer, whose owner has the products of a line that nobody owns; nil for none.
    func chain(of place: Place) -> String? {
        let others = places.filter { !$0.original.hasSameBytes(as: place.original) }
        return (others.first { $0.product.line.isEmpty } ?? others.first)?.original
    }

    /// True if another item or a later token has the line, so that this item does not say what comes next.
    func isContinued(_ place: Place, after token: String) -> Bool {
        let isFollowed = places.contains { other in
            guard let end = place.stated.expiryTime, let otherEnd = other.stated.expiryTime else { return false }
            return other.original.hasSameBytes(as: place.original) && otherEnd > end
        }
        return isFollowed
            || lines.products.contains { other in
                other.line.hasSameBytes(as: place.product.line) && !other.purchaseToken.hasSameBytes(as: token)
                    && other.beginsAt > place.product.beginsAt
            }
    }

    /// Notes the end of the paid time that the answer states.
    mutating func end(_ charge: String, of productId: String, at endsAt: Timestamp?) {
        guard self[productId]?.isNews ?? false, lines[productId]?.charge.hasSameBytes(as: charge) ?? false else {
            return
        }
        lines[productId]?.endsAt = endsAt
    }
}

/// The products of an answer in their lines.
extension GooglePlayAnswer {
    /// The difference within which two ends are one, in seconds: that of an order and of its item differ by less.
    private static let sameEndSeconds: Int64 = 60
    /// The days for which an item that has left is ended again. The answer may have been recorded and not applied.
    private static let goneDays: Int64 = 3

    /// The products in their lines. None are owned before they are paid.
    func placement(_ moment: Moment) -> GooglePlayPlacement {
        var placement = GooglePlayPlacement(lines: moment.lines)
        guard state != .pending, state != .paymentCanceled else { return placement }
        switch content {
        case .products(let items, let orderId):
            for item in items { place(item, isOnly: items.count == 1, orderId, &placement, moment) }
        case .subscription(let items):
            let owned = items.compactMap { item in item.expiryTime.map { (item: item, expiryTime: $0) } }
            // Of two plans of a product, the one that replaces the other ends later.
            for (item, expiryTime) in owned.sorted(by: { $0.expiryTime < $1.expiryTime }) where placement[item] == nil {
                let line = line(of: item, among: owned.map(\.item), placement.lines, at: moment.askedAt)
                place(item, among: items, until: expiryTime, in: line, &placement, moment)
            }
            for gone in goneProducts(moment) {
                placement.lines[gone.productId] = gone.left(at: moment.askedAt, purchaseToken, moment.number)
            }
        }
        return placement
    }

    private func place(
        _ item: ProductLineItem, isOnly: Bool, _ orderId: String?, _ placement: inout GooglePlayPlacement,
        _ moment: Moment
    ) {
        guard placement[item.productId] == nil else { return }
        let known = placement.lines[item.productId]
        let line = known?.line ?? (isOnly ? "" : item.productId)
        let transaction = GooglePlayLines.original(of: line, in: moment.names.name(of: purchaseToken))
        let order = moment.order(orderId)
        let beginsAt = known?.beginsAt ?? startTime ?? order?.createdAt ?? moment.askedAt
        let product = GooglePlayLines.Product(
            item.productId, in: line, of: purchaseToken, charge: transaction, orderId: orderId ?? known?.orderId,
            from: beginsAt, to: rentalEnd(of: item, from: beginsAt, known: known?.endsAt, moment),
            number: moment.number ?? 0)
        let isNews = isNews(of: known, moment)
        if isNews { placement.lines[item.productId] = product }
        placement.places.append(
            .init(
                stated: (orderId, nil), product: product, original: transaction, known: nil, isNews: isNews,
                isSuperseded: false))
    }

    /// The end of a rental; nil for a bought product, and if the catalog of Google Play does not have the rental.
    ///
    /// - Parameter known: The end that the first answers have had. It stays when the team changes the purchase option.
    private func rentalEnd(
        of item: ProductLineItem, from beginsAt: Timestamp, known: Timestamp?, _ moment: Moment
    ) -> Timestamp? {
        guard item.isRental else { return nil }
        let rental = moment.rentals[item]
        let end = known ?? rental?.rentalPeriod.end(from: beginsAt)
        // Google states that a product is consumed, and not since when. The first answer that says so dates it.
        guard item.isConsumed, let end, let period = rental?.expirationPeriod else { return end }
        return min(end, period.end(from: moment.askedAt))
    }

    /// The line of a product: the one that it has; that of the product which it replaces; the main line for the base, "the first item in
    /// the list" (subscription-with-addons, "Launch a purchase flow"), unless another product has it; else its own.
    private func line(
        of item: SubscriptionLineItem, among owned: [SubscriptionLineItem], _ lines: GooglePlayLines,
        at moment: Timestamp
    ) -> String {
        if let known = lines[item.productId] ?? item.replaced?.productId.flatMap({ lines[$0] }) { return known.line }
        let running = owned.filter { $0.expiryTime.map { $0 > moment } ?? false }
        let isRunning = running.contains { $0.productId.hasSameBytes(as: item.productId) }
        if isRunning, let ended = endedLine(among: owned, running, lines) { return ended }
        let others = isRunning ? running : owned
        let isTaken = others.contains { lines[$0.productId]?.line.isEmpty ?? false }
        // The replaced base may still be in the answer.
        let isBase = others.first.map { $0.productId.hasSameBytes(as: item.productId) || item.isReplaced(among: [$0]) }
        return isBase ?? false && !isTaken ? "" : item.productId
    }

    /// The line of the only item that is over, if only one new item may have come in its place: after a deferred replacement, an answer
    /// still has the old item (subscriptions, "Handle deferred replacement"), and may not name it as replaced.
    private func endedLine(
        among owned: [SubscriptionLineItem], _ running: [SubscriptionLineItem], _ lines: GooglePlayLines
    ) -> String? {
        func line(of item: SubscriptionLineItem) -> ByteKey? { lines[item.productId].map { ByteKey($0.line) } }
        let held = Set(running.compactMap(line))
        let ended = owned.filter { item in
            !item.renews && !running.contains { $0.productId.hasSameBytes(as: item.productId) }
                && line(of: item).map { !held.contains($0) } ?? false
        }
        let new = running.filter { line(of: $0) == nil && $0.replaced == nil }
        guard ended.count == 1, new.count == 1 else { return nil }
        return lines[ended[0].productId]?.line
    }

    private func place(
        _ item: SubscriptionLineItem, among items: [SubscriptionLineItem], until expiryTime: Timestamp, in line: String,
        _ placement: inout GooglePlayPlacement, _ moment: Moment
    ) {
        let last = placement.lines[item.productId]
        let known = last.flatMap { isCharge($0, of: item, until: expiryTime, moment.askedAt) ? $0 : nil }
        let isNews = isNews(of: last, moment)
        var product = known ?? newCharge(of: item, among: items, until: expiryTime, in: line, placement.lines, moment)
        product.orderId = item.orderId ?? product.orderId
        if state != .unknown { product.lapsedAt = hasAccess ? nil : moment.askedAt }
        product.purchaseToken = purchaseToken
        product.statementNumber = moment.number ?? 0
        if isNews { placement.lines[item.productId] = product }
        let name = moment.names.name(of: moment.originalToken ?? purchaseToken)
        placement.places.append(
            .init(
                stated: (item.orderId, expiryTime), product: product,
                original: GooglePlayLines.original(of: line, in: name),
                known: known.map { GooglePlayPeriod(purchaseDate: $0.beginsAt, expiresDate: $0.endsAt) },
                isNews: isNews,
                isSuperseded: !isNews && last.map { isSuperseded(item, by: $0, isSameCharge: known != nil) } ?? false))
    }

    /// True if a later token has the charge of an item, so that its end is no news: in a replacement it has the same charge, and a prepaid
    /// plan that is topped up keeps its time (lifecycle/subscriptions, "Prepaid plans").
    private func isSuperseded(
        _ item: SubscriptionLineItem, by last: GooglePlayLines.Product, isSameCharge: Bool
    ) -> Bool {
        !last.purchaseToken.hasSameBytes(as: purchaseToken)
            && (isSameCharge || item.isPrepaid && state == .expired && cancellation == nil)
    }

    /// True if the answer is the last one about a product, and its token has the product. A token takes over what the tokens before it
    /// have with its first answer, and none of them takes it back.
    private func isNews(of last: GooglePlayLines.Product?, _ moment: Moment) -> Bool {
        guard let last else { return true }
        let isLater = moment.number.map { $0 >= last.statementNumber } ?? true
        return isLater
            && (last.purchaseToken.hasSameBytes(as: purchaseToken)
                || moment.isNewToken && (!state.isFinal || hasEnded(after: last.purchaseToken)))
    }

    /// True if the token follows another one directly, and no later one has replaced it: so Google refunds a replacement that nobody has
    /// acknowledged (developer.android.com/google/play/billing/integrate).
    private func hasEnded(after token: String) -> Bool {
        !isReplaced && linkedPurchaseToken.map(token.hasSameBytes) ?? false
    }

    /// True if the last charge of a product is that of the item. Google Play moves the end of a charge: it defers the billing, and cuts a
    /// period short.
    private func isCharge(
        _ last: GooglePlayLines.Product, of item: SubscriptionLineItem, until expiryTime: Timestamp,
        _ askedAt: Timestamp
    ) -> Bool {
        let end = last.endsAt ?? last.beginsAt
        let isSameEnd =
            abs(end.millisecondsSince1970 - expiryTime.millisecondsSince1970) <= Self.sameEndSeconds * 1000
        switch (last.orderId, item.orderId) {
        case (let order?, let stated?): return order.hasSameBytes(as: stated)
        // The order of a charge may be shown later than the charge, also once the next one is declined.
        case (nil, _?): return isSameEnd || [.inGracePeriod, .onHold, .paused].contains(state)
        // A grace period moves the end on, and is no charge.
        case (_, nil) where isSameEnd || expiryTime < end || ![.active, .canceled].contains(state): return true
        case (_?, nil): return false
        // Without any order, only the date tells a renewal from a deferred charge.
        case (nil, nil): return askedAt < end.adding(days: -1)
        }
    }

    private func newCharge(
        of item: SubscriptionLineItem, among items: [SubscriptionLineItem], until expiryTime: Timestamp,
        in line: String,
        _ lines: GooglePlayLines, _ moment: Moment
    ) -> GooglePlayLines.Product {
        let charge = identifier(of: item, until: expiryTime, in: line, lines, moment)
        let before = lines.charge(before: charge, in: line).flatMap { before in
            (before.endsAt ?? before.beginsAt).adding(seconds: Self.sameEndSeconds) < expiryTime ? before : nil
        }
        let isContinued = before?.purchaseToken.hasSameBytes(as: purchaseToken) ?? false
        // The order of a later add-on counts the charges of the base, which may be older.
        let isNumbered = renewalNumber(of: item) != nil && (line.isEmpty || moment.lines.products.isEmpty)
        let order = moment.order(item.orderId)
        // The order of another product alone says nothing about the dates of this one.
        let isOfOther = order?.isOfOthers(than: item.productId) ?? false
        let beginsAt =
            order?.lineItem(item.productId)?.periodStart ?? item.deferredBeginning(among: items)
            ?? (isOfOther ? nil : order?.createdAt)
            ?? beginning(of: item, until: expiryTime, in: line, after: before, lines, moment)
        return .init(
            item.productId, in: line, of: purchaseToken, charge: charge, orderId: item.orderId, from: beginsAt,
            to: expiryTime, isRenewal: isContinued || isNumbered)
    }

    /// The transaction of a new charge: its order, or without one the name of the token, with the line if it is not the main one.
    private func identifier(
        of item: SubscriptionLineItem, until expiryTime: Timestamp, in line: String, _ lines: GooglePlayLines,
        _ moment: Moment
    ) -> String {
        if let order = item.orderId {
            let charge = GooglePlayLines.original(of: line, in: order)
            // "Without proration", a replacement costs nothing until the renewal, so its last order may be that of the replaced product.
            let isOfOther = lines.products.contains {
                $0.charge.hasSameBytes(as: charge) && !$0.productId.hasSameBytes(as: item.productId)
            }
            return isOfOther ? GooglePlayLines.original(of: item.productId, in: order) : charge
        }
        let name = moment.names.name(of: purchaseToken)
        let first = GooglePlayLines.original(of: line, in: name)
        guard lines.products.contains(where: { $0.charge.hasSameBytes(as: first) }) else { return first }
        return GooglePlayLines.original(of: line, in: "\(name).\(expiryTime.secondsSince1970)")
    }

    /// The number that Google Play adds to the order of a renewal, 0 for the first one (`GPA.…..0`); nil for that of a purchase.
    private func renewalNumber(of item: SubscriptionLineItem) -> Int64? {
        guard let order = item.orderId, let points = order.range(of: "..") else { return nil }
        return Int64(order[points.upperBound...]) ?? 0
    }

    /// The beginning of a charge whose order the service may not see.
    ///
    /// - Parameter before: The charge of the line before it; nil if none is known.
    private func beginning(
        of item: SubscriptionLineItem, until expiryTime: Timestamp, in line: String,
        after before: GooglePlayLines.Product?, _ lines: GooglePlayLines, _ moment: Moment
    ) -> Timestamp {
        let start = startTime ?? moment.askedAt
        func isOfToken(_ product: GooglePlayLines.Product) -> Bool {
            product.purchaseToken.hasSameBytes(as: purchaseToken)
        }
        if let before {
            // A replacement begins with its token, and ends the charge before it.
            guard isOfToken(before) || start <= before.beginsAt else { return start }
            let end = before.endsAt ?? before.beginsAt
            // Nothing was owned on hold or in a pause.
            let resumed = max(end, before.lapsedAt ?? end)
            return resumed < expiryTime ? resumed : end
        }
        // An add-on that comes later begins with the charge that it shares, or else about now.
        if !lines.products.contains(where: { $0.line.hasSameBytes(as: line) }) {
            let sibling = lines.products.first { isOfToken($0) && $0.orderId != nil && $0.orderId == item.orderId }
            if let sibling { return min(sibling.beginsAt, expiryTime) }
            if moment.lines.products.contains(where: isOfToken) { return min(moment.askedAt, expiryTime) }
        }
        guard let number = renewalNumber(of: item), start < expiryTime else { return start }
        // The service has missed the charges before. Equal periods are the best that is known.
        let milliseconds = expiryTime.millisecondsSince1970 - start.millisecondsSince1970
        return start.adding(milliseconds: milliseconds / (number + 2) * (number + 1))
    }

    /// The products of the ledger that the subscription has lost, as their lines are missing.
    ///
    /// An item that is revoked alone leaves the subscription as it is ("only the item will be revoked, and fully refunded without
    /// interrupting the subscription status", subscription-with-addons, "Revoke individual item"). A removed one leaves at its end.
    func goneProducts(_ moment: Moment) -> [GooglePlayLines.Product] {
        guard case .subscription(let items) = content, !isReplaced,
            ![.pending, .paymentCanceled, .unknown].contains(state)
        else { return [] }
        let owned = items.filter { $0.expiryTime != nil }
        guard !owned.isEmpty else { return [] }
        let held = Set(
            owned.map { ByteKey(line(of: $0, among: owned, moment.lines, at: moment.askedAt)) })
        return moment.lines.products.filter { product in
            !held.contains(ByteKey(product.line)) && isNews(of: product, moment)
                && product.endsAt.map { $0 > moment.askedAt.adding(days: -Self.goneDays) } ?? false
        }
    }

    /// True for an item whose charge was declined. The other items keep their ends (subscription-with-addons, "Item expiration during
    /// payment decline"): Google Play moves that of a declined one on.
    func isDeclined(
        _ item: SubscriptionLineItem, among items: [SubscriptionLineItem], paidUntil: Timestamp?, _ askedAt: Timestamp
    ) -> Bool {
        guard state == .inGracePeriod, items.count > 1, let paidUntil, let end = item.expiryTime, end > askedAt else {
            return state == .inGracePeriod
        }
        return abs(end.millisecondsSince1970 - paidUntil.millisecondsSince1970) > Self.sameEndSeconds * 1000
    }

    /// True in a state in which the products are owned.
    var hasAccess: Bool { [.purchased, .active, .inGracePeriod, .canceled].contains(state) }

    /// The orders that complete the answer: those of charges without a known price, those of an ended purchase, which may be refunds, and
    /// those of items that are gone.
    ///
    /// - Parameter priced: The orders of the charges whose prices the ledger has.
    package func orders(after moment: Moment, knowing priced: Set<String>) -> [String] {
        let open = orderIdentifiers.filter { state.isFinal || !priced.contains($0) }
        let gone = goneProducts(moment).filter { $0.endsAt.map { $0 > moment.askedAt } ?? false }.compactMap(\.orderId)
        return open + Set(gone).subtracting(open).sorted()
    }
}

extension GooglePlayLines.Product {
    /// The product that an answer of its token does not have any more.
    fileprivate func left(at moment: Timestamp, _ token: String, _ number: Int64?) -> Self {
        var product = self
        product.endsAt = min(endsAt ?? moment, moment)
        // A line that is gone before its end was cut off at its first answer without it.
        (product.lapsedAt, product.purchaseToken) = (lapsedAt ?? moment, token)
        product.statementNumber = number ?? statementNumber
        return product
    }
}
