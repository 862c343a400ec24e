# For people; cmake --preset does the work (HACKING.md).
PREFIX ?= /usr/local

build:
	cmake --preset release -DBUILD_TESTING=OFF
	cmake --build --preset release

install: build
	cmake --install build/release --prefix "$(DESTDIR)$(PREFIX)"

check:
	./check

clean:
	rm -rf build

.PHONY: build install check clean
