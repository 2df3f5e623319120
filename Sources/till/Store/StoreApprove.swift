import ArgumentParser
import Proofs

/// `till store approve`
struct StoreApprove: Command {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a deferred purchase, as a parent does.",
        discussion: """
            Example:
              till store approve 3
            """)

    @Argument(help: "The transaction's number; `till store queue` lists them.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let queued = try common.directoryOfStore.store().approve(id)
        try terminal.decided(queued, common: common)
    }
}
