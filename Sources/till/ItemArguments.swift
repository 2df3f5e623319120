import ArgumentParser
import Proofs

/// The arguments that name an item.
struct ItemArguments: ParsableArguments {
    @Argument(help: "The collection of the item.")
    var collection: String

    @Argument(help: "The number of the item in its collection.")
    var number: Int

    var item: Item { Item(collection: collection, number: number) }
}
