import ArgumentParser
import Commerce
import Store

extension User: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }
}

extension PaymentOutcome: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }

    public static var allValueStrings: [String] { names }
}

extension AppStoreEnvironment: ExpressibleByArgument {}
