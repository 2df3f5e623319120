import ArgumentParser
import Store

/// `till store time`
struct StoreTime: Command {
    static let configuration = CommandConfiguration(
        commandName: "time", abstract: "Tell the store's time, or move it on: everything due in between happens.",
        discussion: """
            Examples:
              till store time
              till store time --advance 1mo     # or 90s, 5min, 2h, 3d, 1w, 1y
            """)

    @Option(help: ArgumentHelp("How far: a number and one of s, min, h, d, w, mo, y.", valueName: "time"))
    var advance: TimeStep?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        if let advance { _ = try store.advance(advance) }
        let now = store.now.rfc3339
        console.line(now)
        try console.json(["now": now])
    }
}

extension TimeStep: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}
