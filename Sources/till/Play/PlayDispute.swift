import ArgumentParser
import PlayStore

struct PlayDispute: Command {
    static let configuration = CommandConfiguration(
        "dispute", "Dispute the payment of an order as the customer's bank does, and list such disputes.",
        """
        The Play notifies the developer (pendingRefundReviewNotification), who answers with `orders.reviewrefund` within 24 hours of \
        the Play's clock. At their end the order is refunded as a chargeback, unless the first answer declines the refund.
        """,
        examples: """
            till play dispute
            till play dispute GPA.3312-4512-1100-55923
            """)

    @Argument(help: "The order. Without one, the disputes are listed.")
    var order: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let disputes = try common.existingPlay.perform { books in
            guard let order else { return try books.reviews().map { PlayDisputeResource($0) } }
            return [PlayDisputeResource(try books.dispute(order: order))]
        }
        terminal.table(
            ["ORDER", "STATE", "PREFERENCE", "DEADLINE"],
            disputes.map { [$0.orderId, $0.state, $0.refundPreference, $0.deadline] }, orElse: "No disputes.")
        try terminal.json(["disputes": disputes])
    }
}
