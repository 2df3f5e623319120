import ArgumentParser
import Commerce

/// `till approve`
struct Approve: Command {
    static let configuration = CommandConfiguration(
        abstract: "Approve a purchase that was deferred, as a parent does.",
        discussion: """
            Example:
              till approve 3
            """)

    @Argument(help: "The transaction's number, as till queue shows it.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let queued = try common.directoryOfStore.store().approve(id)
        try console.decided(queued, common: common)
    }
}
